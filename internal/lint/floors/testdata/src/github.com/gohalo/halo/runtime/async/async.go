package async
